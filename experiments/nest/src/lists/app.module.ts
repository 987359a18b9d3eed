import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { HealthController } from '../health/health.controller';
import { AuthModule } from './auth/auth.module';
import { UsersModule } from './users/users.module';

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: process.env.POSTGRES,
      autoLoadEntities: true,
      extra: {
        max: Number(process.env.DB_POOL ?? 10),
        connectionTimeoutMillis: Number(process.env.DB_POOL_TIMEOUT_MS ?? 0),
      },
    }),
    AuthModule,
    UsersModule,
  ],
  controllers: [HealthController],
})
export class AppModule {}
