import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Room } from './room.entity';

@Injectable()
export class RoomsService {
  constructor(@InjectRepository(Room) private readonly rooms: Repository<Room>) {}

  async findOrCreate(userId: number, friendId: number): Promise<Room> {
    const [one, other] = [userId, friendId].sort((a, b) => a - b);
    const room = await this.rooms.findOneBy({ one, other });
    if (room) return room;
    // Both may ask at once: the second one finds what the first has made.
    await this.rooms.createQueryBuilder().insert().values({ one, other }).orIgnore().updateEntity(false).execute();
    return this.rooms.findOneByOrFail({ one, other });
  }
}
