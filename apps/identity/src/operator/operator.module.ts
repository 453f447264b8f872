import { Module } from '@nestjs/common';
import { Audit, AUDITED_MODULE } from '@customer-platform/audit';
import { DatabaseModule } from '@customer-platform/database';
import { Outbox, OutboxSignal } from '@customer-platform/event-bus';
import { ApiKeyIssuing } from '../api-keys/api-key.issuing.js';
import { FactorRemoval } from '../mfa/factor-removal.js';
import { RecoveryCodesStore } from '../mfa/recovery-codes.store.js';
import { migrations } from '../migrations/index.js';
import { ConsoleClient } from '../oauth-clients/console-client.js';
import { OrganizationFounding } from '../organizations/organization.founding.js';
import { EndingsInPieces } from '../sessions/endings-in-pieces.js';
import { BuiltInPermissions } from '../roles/built-in.permissions.js';
import { SessionEndings } from '../sessions/session-endings.js';
import { Operator } from './operator.js';

/** What an operator's command needs: the database, and nothing that listens or consumes. */
@Module({
  imports: [DatabaseModule.forRoot({ module: 'identity', entities: [], migrations })],
  providers: [
    { provide: AUDITED_MODULE, useValue: 'identity' },
    Audit,
    Outbox,
    OutboxSignal,
    BuiltInPermissions,
    OrganizationFounding,
    ConsoleClient,
    ApiKeyIssuing,
    FactorRemoval,
    RecoveryCodesStore,
    SessionEndings,
    EndingsInPieces,
    Operator,
  ],
})
export class OperatorModule {}
