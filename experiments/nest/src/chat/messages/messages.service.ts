import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Message } from './message.entity';

@Injectable()
export class MessagesService {
  constructor(@InjectRepository(Message) private readonly messages: Repository<Message>) {}

  create(room: number, author: number, content: string): Promise<Message> {
    return this.messages.save(this.messages.create({ room, author, content }));
  }
}
