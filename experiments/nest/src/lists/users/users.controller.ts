import { Controller, Get, UseGuards } from '@nestjs/common';
import { AuthGuard } from '../../auth/auth.guard';
import { UserList, UsersService } from './users.service';

@Controller('api/user')
@UseGuards(AuthGuard)
export class UsersController {
  constructor(private readonly users: UsersService) {}

  /** One list for all: the report does not show what its searches (`?search=`) ask. */
  @Get(['list-all', 'list'])
  list(): Promise<UserList> {
    return this.users.list();
  }
}
