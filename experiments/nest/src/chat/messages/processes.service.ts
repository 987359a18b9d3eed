import { Injectable } from '@nestjs/common';
import { NewMessage } from './messages.dto';

/** The other processes of the service: the host passes on to them what one is told. */
@Injectable()
export class ProcessesService {
  tell(message: NewMessage): void {
    process.send?.(message);
  }

  onTold(hear: (message: NewMessage) => void): void {
    process.on('message', (message) => hear(message as NewMessage));
  }
}
