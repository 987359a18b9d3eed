import { Module } from '@nestjs/common';
import { TokensModule } from '../../auth/tokens.module';
import { UsersModule } from '../users/users.module';
import { AuthController } from './auth.controller';
import { AuthService } from './auth.service';

@Module({ imports: [TokensModule, UsersModule], controllers: [AuthController], providers: [AuthService] })
export class AuthModule {}
