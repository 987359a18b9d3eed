import { Controller, Get } from '@nestjs/common';
import { DataSource } from 'typeorm';

@Controller('healthz')
export class HealthController {
  constructor(private readonly dataSource: DataSource) {}

  @Get()
  async check(): Promise<{ ok: boolean }> {
    await this.dataSource.query('SELECT 1');
    return { ok: true };
  }
}
