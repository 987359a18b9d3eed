import {
  ConnectedSocket,
  MessageBody,
  OnGatewayInit,
  SubscribeMessage,
  WebSocketGateway,
  WebSocketServer,
} from '@nestjs/websockets';
import { Server, Socket } from 'socket.io';
import { TokensService } from '../../auth/tokens.service';
import { JoinRoomDto, NewMessage, SendMessageDto } from './messages.dto';
import { MessagesService } from './messages.service';
import { ProcessesService } from './processes.service';

interface Acknowledgement {
  ok: boolean;
  id?: number;
  error?: string;
}

@WebSocketGateway({ transports: ['websocket'] })
export class MessagesGateway implements OnGatewayInit<Server> {
  @WebSocketServer()
  private readonly server: Server;

  constructor(
    private readonly tokens: TokensService,
    private readonly messages: MessagesService,
    private readonly processes: ProcessesService,
  ) {}

  afterInit(server: Server): void {
    server.use((socket, next) => {
      try {
        socket.data.userId = this.tokens.verify(String(socket.handshake.auth.token));
        next();
      } catch (error) {
        next(error as Error);
      }
    });
    this.processes.onTold((message) => this.broadcast(message));
  }

  @SubscribeMessage('joinRoom')
  async join(@ConnectedSocket() socket: Socket, @MessageBody() { roomId }: JoinRoomDto): Promise<Acknowledgement> {
    await socket.join(roomName(roomId));
    return { ok: true };
  }

  @SubscribeMessage('sendMessage')
  async send(
    @ConnectedSocket() socket: Socket,
    @MessageBody() { roomId, content }: SendMessageDto,
  ): Promise<Acknowledgement> {
    try {
      const { id } = await this.messages.create(roomId, socket.data.userId, content);
      const message = { id, roomId, content };
      this.broadcast(message);
      this.processes.tell(message);
      return { ok: true, id };
    } catch (error) {
      return { ok: false, error: (error as Error).message };
    }
  }

  private broadcast(message: NewMessage): void {
    this.server.to(roomName(message.roomId)).emit('newMessage', message);
  }
}

function roomName(roomId: number): string {
  return `room ${roomId}`;
}
