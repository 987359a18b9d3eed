export class JoinRoomDto {
  roomId: number;
}

export class SendMessageDto {
  roomId: number;
  content: string;
}

/** What those in a room hear, as `newMessage`. */
export interface NewMessage {
  id: number;
  roomId: number;
  content: string;
}
