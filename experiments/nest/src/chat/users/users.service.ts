import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { CacheService } from '../cache/cache.service';
import { Friendship } from './friendship.entity';
import { User } from './user.entity';

@Injectable()
export class UsersService {
  constructor(
    @InjectRepository(User) private readonly users: Repository<User>,
    @InjectRepository(Friendship) private readonly friendships: Repository<Friendship>,
    private readonly cache: CacheService,
  ) {}

  /** For a login: the password is selected as well. */
  findByEmail(email: string): Promise<User | null> {
    return this.cache.remember(`user:${email}`, () =>
      this.users.findOne({ select: { id: true, email: true, password: true }, where: { email } }),
    );
  }

  friendsOf(userId: number): Promise<User[]> {
    return this.cache.remember(`friends:${userId}`, async () => {
      const friendships = await this.friendships.find({
        where: { who: userId },
        relations: { friend: true },
        order: { friendId: 'ASC' },
      });
      return friendships.map(({ friend }) => friend);
    });
  }
}
