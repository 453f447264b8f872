import { Module } from '@nestjs/common';
import { AuthorizationController } from './authorization.controller.js';
import { DatabaseAuthorizationSource } from './database-authorization.source.js';

/** What the other modules ask about credentials. */
@Module({
  controllers: [AuthorizationController],
  providers: [DatabaseAuthorizationSource],
})
export class AuthorizationRegistryModule {}
