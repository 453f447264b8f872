import { Module } from '@nestjs/common';
import { IdentityLinks } from '../identity-mail/identity-links.js';
import { BatchReader } from './batch-facts.js';
import { Claims } from './claims.js';
import { DispatchBatch } from './dispatch-batch.js';
import { Dispatcher } from './dispatcher.js';
import { GatePassage } from './gate-passage.js';
import { OutcomeRecorder } from './outcome-recorder.js';
import { IdentityClaims } from './identity-lane/identity-claims.js';
import { IDENTITY_BATCH, IdentityLane } from './identity-lane/identity-lane.js';
import { IdentityOutcomes } from './identity-lane/identity-outcomes.js';
import { IdentityPreparation } from './identity-lane/identity-preparation.js';
import { Preparation, SendPreparation } from './preparation.js';
import { Recipients } from './recipients.js';
import { Settlement } from './settlement.js';
import { Transports } from './transports/transports.js';

/**
 * The one way from a send to the world. It exports nothing: whoever wants a message sent stores a send, and only what
 * passes the gate in here meets a transport (messaging.md §1). `gate.boundary.spec.ts` holds the imports to that.
 */
@Module({
  providers: [
    BatchReader,
    Claims,
    DispatchBatch,
    Dispatcher,
    GatePassage,
    {
      provide: IDENTITY_BATCH,
      inject: [IdentityPreparation, GatePassage, Transports, IdentityOutcomes, Settlement],
      useFactory: (...parts: ConstructorParameters<typeof DispatchBatch>) => new DispatchBatch(...parts),
    },
    IdentityClaims,
    IdentityLane,
    IdentityLinks,
    IdentityOutcomes,
    IdentityPreparation,
    OutcomeRecorder,
    Preparation,
    { provide: SendPreparation, useExisting: Preparation },
    Recipients,
    Settlement,
    Transports,
  ],
})
export class GateModule {}
