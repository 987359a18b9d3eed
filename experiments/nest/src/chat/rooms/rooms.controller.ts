import { Body, Controller, ParseIntPipe, Post, UseGuards } from '@nestjs/common';
import { AuthGuard } from '../../auth/auth.guard';
import { UserId } from '../../auth/user-id.decorator';
import { RoomsService } from './rooms.service';

@Controller('rooms')
@UseGuards(AuthGuard)
export class RoomsController {
  constructor(private readonly rooms: RoomsService) {}

  @Post('find-or-create')
  async findOrCreate(
    @UserId() userId: number,
    @Body('friendId', ParseIntPipe) friendId: number,
  ): Promise<{ roomId: number }> {
    const { id } = await this.rooms.findOrCreate(userId, friendId);
    return { roomId: id };
  }
}
