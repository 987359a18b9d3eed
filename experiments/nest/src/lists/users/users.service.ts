import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { User } from './user.entity';

const PAGE = 20;

export interface UserList {
  users: User[];
  total?: number;
}

@Injectable()
export class UsersService {
  constructor(@InjectRepository(User) private readonly users: Repository<User>) {}

  /** For a login: the password is selected as well. */
  findByEmail(email: string): Promise<User | null> {
    return this.users.findOne({ select: { id: true, email: true, password: true }, where: { email } });
  }

  list(): Promise<UserList> {
    return process.env.LISTS === 'work' ? this.newest() : this.waitedFor();
  }

  /** The newest users and how many there are, as in the report: two statements, and each reads the whole table. */
  private async newest(): Promise<UserList> {
    const [users, total] = await this.users.findAndCount({ order: { created: 'DESC', id: 'ASC' }, take: PAGE });
    return { users, total };
  }

  /** Takes 50 ms and no work, as a statement over a network or from a disk does. It sleeps once, not once a row. */
  private async waitedFor(): Promise<UserList> {
    const users = await this.users
      .createQueryBuilder('user')
      .where('(SELECT pg_sleep(0.05)) IS NOT NULL')
      .orderBy('user.id')
      .take(PAGE)
      .getMany();
    return { users };
  }
}
