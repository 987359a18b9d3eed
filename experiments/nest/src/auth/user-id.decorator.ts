import { ExecutionContext, createParamDecorator } from '@nestjs/common';

/** The user of a request that `AuthGuard` let pass. */
export const UserId = createParamDecorator(
  (_: unknown, context: ExecutionContext): number => context.switchToHttp().getRequest().userId,
);
