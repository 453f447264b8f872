import { Module } from '@nestjs/common';
import { FollowingModule } from '../following/following.module.js';
import { PeopleModule } from '../people/people.module.js';
import { SigningKeysModule } from '@customer-platform/database';
import { SubjectRequestsModule } from '../subject-requests/subject-requests.module.js';
import { InternalMembersController } from './internal-members.controller.js';
import { MemberTokenStrategy } from './member-token.strategy.js';
import { MemberConsentsService } from './member-consents.service.js';
import { MemberContacts } from './member-contacts.js';
import { MembersController } from './members.controller.js';
import { MembersService } from './members.service.js';
import { MemberTokens } from './member-tokens.js';
import { TenantAssertions } from './tenant-assertions.js';
import { TenantTokenStrategy } from './tenant-token.strategy.js';
import { TokenExchangeService } from './token-exchange.service.js';

/** The Member API: people with a token of their own. */
@Module({
  imports: [
    FollowingModule,
    PeopleModule,
    SigningKeysModule.forRoot({ module: 'core' }),
    SubjectRequestsModule,
  ],
  controllers: [InternalMembersController, MembersController],
  providers: [
    MemberConsentsService,
    MemberContacts,
    MemberTokenStrategy,
    MembersService,
    MemberTokens,
    TenantAssertions,
    TenantTokenStrategy,
    TokenExchangeService,
  ],
})
export class MembersModule {}
