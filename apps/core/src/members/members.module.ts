import { Module } from '@nestjs/common';
import { DeclaredAttributesModule } from '../attributes/declared-attributes.module.js';
import { MEMBER_AUTHENTICATOR, TENANT_AUTHENTICATOR } from '@customer-platform/http';
import { ConsentsModule } from '../consents/consents.module.js';
import { ContactsModule } from '../contacts/contacts.module.js';
import { SigningKeysModule } from '@customer-platform/database';
import { ReceiptKeysModule } from '../subject-requests/erasure/receipt-keys.module.js';
import { InternalMembersController } from './internal-members.controller.js';
import { MembersAuthenticator } from './members.authenticator.js';
import { MemberConsentsService } from './member-consents.service.js';
import { MemberContacts } from './member-contacts.js';
import { MembersController } from './members.controller.js';
import { MembersService } from './members.service.js';
import { MemberTokens } from './member-tokens.js';
import { TenantAssertions } from './tenant-assertions.js';
import { TokenExchangeService } from './token-exchange.service.js';

/** The Member API: people with a token of their own. */
@Module({
  imports: [
    ConsentsModule,
    ContactsModule,
    DeclaredAttributesModule,
    ReceiptKeysModule,
    SigningKeysModule.forRoot({ module: 'core' }),
  ],
  controllers: [InternalMembersController, MembersController],
  providers: [
    MemberConsentsService,
    MemberContacts,
    MembersAuthenticator,
    MembersService,
    MemberTokens,
    TenantAssertions,
    TokenExchangeService,
    { provide: MEMBER_AUTHENTICATOR, useExisting: MembersAuthenticator },
    { provide: TENANT_AUTHENTICATOR, useExisting: MembersAuthenticator },
  ],
})
export class MembersModule {}
