import { Injectable, Logger, OnModuleInit } from '@nestjs/common';
import { createClient } from 'redis';

const KEPT_S = 60;

/** The report's remedy: a Redis in front of the database, where there is one. */
@Injectable()
export class CacheService implements OnModuleInit {
  private readonly logger = new Logger(CacheService.name);
  private readonly client = process.env.REDIS ? createClient({ url: process.env.REDIS }) : undefined;

  async onModuleInit(): Promise<void> {
    this.client?.on('error', (error: Error) => this.logger.warn(error.message));
    await this.client?.connect();
  }

  /** What `find` gives, or gave in the last minute. */
  async remember<T>(key: string, find: () => Promise<T>): Promise<T> {
    if (!this.client) return find();
    const kept = await this.client.get(key);
    if (kept) return JSON.parse(kept) as T;
    const found = await find();
    await this.client.set(key, JSON.stringify(found), { EX: KEPT_S });
    return found;
  }
}
