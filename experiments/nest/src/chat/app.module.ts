import { Module } from '@nestjs/common';
import { database } from '../database';
import { HealthController } from '../health/health.controller';
import { AuthModule } from './auth/auth.module';
import { MessagesModule } from './messages/messages.module';
import { RoomsModule } from './rooms/rooms.module';
import { UsersModule } from './users/users.module';

@Module({
  imports: [
    database({ max: Number(process.env.POOL ?? 10) }),
    AuthModule,
    UsersModule,
    RoomsModule,
    MessagesModule,
  ],
  controllers: [HealthController],
})
export class AppModule {}
