import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { TokensModule } from '../../auth/tokens.module';
import { Message } from './message.entity';
import { MessagesGateway } from './messages.gateway';
import { MessagesService } from './messages.service';
import { ProcessesService } from './processes.service';

@Module({
  imports: [TypeOrmModule.forFeature([Message]), TokensModule],
  providers: [MessagesGateway, MessagesService, ProcessesService],
})
export class MessagesModule {}
