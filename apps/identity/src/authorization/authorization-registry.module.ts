import { Global, Module } from '@nestjs/common';
import { AuthorizationController } from './authorization.controller.js';
import { DatabaseAuthorizationSource } from './database-authorization.source.js';
import { RegistryPool } from './registry.pool.js';

/** What the other modules ask about credentials. */
@Global()
@Module({
  controllers: [AuthorizationController],
  providers: [RegistryPool, DatabaseAuthorizationSource],
  exports: [RegistryPool],
})
export class AuthorizationRegistryModule {}
