import { Entity, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import { User } from './user.entity';

@Entity('friends')
export class Friendship {
  @PrimaryColumn()
  who: number;

  @PrimaryColumn({ name: 'friend' })
  friendId: number;

  @ManyToOne(() => User)
  @JoinColumn({ name: 'friend' })
  friend: User;
}
