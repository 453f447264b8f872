import { Global, Module } from '@nestjs/common';
import { SigningKeysModule } from '@customer-platform/database';
import { AuthorizationController } from './authorization.controller.js';
import { DatabaseAuthorizationSource } from './database-authorization.source.js';
import { RegistryPool } from './registry.pool.js';

/** What the other modules ask about credentials. */
@Global()
@Module({
  imports: [SigningKeysModule.forRoot({ module: 'identity' })],
  controllers: [AuthorizationController],
  providers: [RegistryPool, DatabaseAuthorizationSource],
  exports: [RegistryPool, SigningKeysModule],
})
export class AuthorizationRegistryModule {}
