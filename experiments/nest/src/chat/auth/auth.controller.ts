import { Body, Controller, Post } from '@nestjs/common';
import { LoginDto } from '../../auth/login.dto';
import { AuthService } from './auth.service';

@Controller('auth')
export class AuthController {
  constructor(private readonly auth: AuthService) {}

  @Post('login')
  login(@Body() { email, password }: LoginDto): Promise<{ access_token: string; id: number }> {
    return this.auth.login(email, password);
  }
}
