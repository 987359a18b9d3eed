import { Module } from '@nestjs/common';
import { database } from '../database';
import { HealthController } from '../health/health.controller';
import { AuthModule } from './auth/auth.module';
import { UsersModule } from './users/users.module';

@Module({
  imports: [
    database({
      max: Number(process.env.DB_POOL ?? 10),
      connectionTimeoutMillis: Number(process.env.DB_POOL_TIMEOUT_MS ?? 0),
    }),
    AuthModule,
    UsersModule,
  ],
  controllers: [HealthController],
})
export class AppModule {}
