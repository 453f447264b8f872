import { Module } from '@nestjs/common';
import { FactorRemoval } from '../mfa/factor-removal.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { AddressProbes } from './address-probes.js';
import { UsersController } from './users.controller.js';
import { UsersService } from './users.service.js';

/** People. */
@Module({
  imports: [SessionsModule],
  controllers: [UsersController],
  providers: [AddressProbes, FactorRemoval, UsersService],
})
export class UsersModule {}
