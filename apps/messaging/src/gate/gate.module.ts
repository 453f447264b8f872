import { Module } from '@nestjs/common';
import { BatchReader } from './batch-facts.js';
import { Claims } from './claims.js';
import { DispatchBatch } from './dispatch-batch.js';
import { Dispatcher } from './dispatcher.js';
import { GatePassage } from './gate-passage.js';
import { OutcomeRecorder } from './outcome-recorder.js';
import { Preparation } from './preparation.js';
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
    OutcomeRecorder,
    Preparation,
    Recipients,
    Settlement,
    Transports,
  ],
})
export class GateModule {}
