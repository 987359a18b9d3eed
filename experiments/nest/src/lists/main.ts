// The service of report 004: logins, and lists of users. Started by 004/service.mjs, beside the database.
//
// | variable | |
// |---|---|
// | PORT | where it listens |
// | POSTGRES | URL of the database |
// | DB_POOL | how many connections to it the pool may have (10) |
// | DB_POOL_TIMEOUT_MS | how long a request waits for one of them; indefinitely without it |
// | LISTS | what a list costs the database: `wait` (without it) or `work`, see UsersService |
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module';

async function bootstrap(): Promise<void> {
  const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
  await app.listen(process.env.PORT ?? 3000, '127.0.0.1');
}

void bootstrap();
