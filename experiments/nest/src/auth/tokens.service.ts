import { Injectable, UnauthorizedException } from '@nestjs/common';
import { createHmac } from 'node:crypto';

const SECRET = 'planted-1';

/** Signed tokens: what a JSON Web Token with HS256 costs, without its library. */
@Injectable()
export class TokensService {
  issue(userId: number): string {
    return `${userId}.${signature(String(userId))}`;
  }

  /** The user whose token this is. */
  verify(token: string): number {
    const [id, signed] = token.split('.');
    if (signed !== signature(id)) throw new UnauthorizedException();
    return Number(id);
  }
}

function signature(id: string): string {
  return createHmac('sha256', SECRET).update(id).digest('hex');
}
