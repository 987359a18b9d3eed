import { Injectable, UnauthorizedException } from '@nestjs/common';
import { isPassword } from '../../auth/passwords';
import { TokensService } from '../../auth/tokens.service';
import { UsersService } from '../users/users.service';

@Injectable()
export class AuthService {
  constructor(
    private readonly users: UsersService,
    private readonly tokens: TokensService,
  ) {}

  async login(email: string, password: string): Promise<{ token: string }> {
    const user = await this.users.findByEmail(email);
    if (!user?.password || !(await isPassword(password, user.password))) throw new UnauthorizedException();
    return { token: this.tokens.issue(user.id) };
  }
}
