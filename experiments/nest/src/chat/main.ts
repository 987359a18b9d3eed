// One process of the chat of reports 000 and 002. Started by 002/host.mjs, which passes what is said in one process on to the
// others and is told the port.
//
// | variable | |
// |---|---|
// | PORT | where it listens; a free port without it |
// | POSTGRES | URL of the database |
// | POOL | how many connections to it the pool may have (10) |
// | REDIS | URL of the cache of users and friends; no cache without it |
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module';

async function bootstrap(): Promise<void> {
  const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
  await app.listen(process.env.PORT ?? 0, '127.0.0.1');
  process.send?.({ port: app.getHttpServer().address().port });
}

// Whoever has started it is gone.
process.on('disconnect', () => process.exit(0));
void bootstrap();
