import { CanActivate, ExecutionContext, Injectable } from '@nestjs/common';
import { TokensService } from './tokens.service';

/** Lets requests with a bearer token pass, and notes whose it is (see `UserId`). */
@Injectable()
export class AuthGuard implements CanActivate {
  constructor(private readonly tokens: TokensService) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest();
    const authorization: string = request.headers.authorization ?? '';
    request.userId = this.tokens.verify(authorization.replace('Bearer ', ''));
    return true;
  }
}
