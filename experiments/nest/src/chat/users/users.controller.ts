import { Controller, Get, UseGuards } from '@nestjs/common';
import { randomInt } from 'node:crypto';
import { AuthGuard } from '../../auth/auth.guard';
import { UserId } from '../../auth/user-id.decorator';
import { User } from './user.entity';
import { UsersService } from './users.service';

@Controller('users')
@UseGuards(AuthGuard)
export class UsersController {
  constructor(private readonly users: UsersService) {}

  @Get('friends')
  async friends(@UserId() userId: number): Promise<{ friends: User[] }> {
    const friends = await this.users.friendsOf(userId);
    // The report's clients choose one at random; here the first of the list is one.
    const first = randomInt(friends.length);
    return { friends: [...friends.slice(first), ...friends.slice(0, first)] };
  }
}
