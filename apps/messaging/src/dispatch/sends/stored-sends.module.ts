import { Module } from '@nestjs/common';
import { DispatchSignal } from './dispatch-signal.js';
import { SendJournal } from './send-journal.js';
import { SendsRepository } from './sends.repository.js';

/** Sends as they are stored: by whoever asks for a message, and with all that becomes of them. */
@Module({
  providers: [DispatchSignal, SendJournal, SendsRepository],
  exports: [DispatchSignal, SendJournal, SendsRepository],
})
export class StoredSendsModule {}
