import { TypeOrmModule } from '@nestjs/typeorm';

/** PostgreSQL at POSTGRES through a pool of the process's own; `pool` is as `pg` takes it. */
export const database = (pool: { max: number; connectionTimeoutMillis?: number }) =>
  TypeOrmModule.forRoot({ type: 'postgres', url: process.env.POSTGRES, autoLoadEntities: true, extra: pool });
