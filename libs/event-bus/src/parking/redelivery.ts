import { Injectable } from '@nestjs/common';
import { ranOut } from '@customer-platform/database';
import { parseDomainEvent } from '@customer-platform/events';
import { isInfrastructureError } from '../errors.js';
import { RecordProofs } from '../proof/record-proofs.js';
import { KafkaTransport } from '../transport/kafka.transport.js';
import { ParkedEvents, type ParkedEvent, type ParkedFilter } from './parked-events.js';

/** What became of a parked event that was delivered again; without an error it is parked no more. */
export interface Redelivered {
  readonly event: ParkedEvent;
  readonly error?: unknown;
}

const AT_ONCE = 200;

/** Delivers parked events again, to the subscriber that could not process them and to nobody else. */
@Injectable()
export class Redelivery {
  constructor(
    private readonly parked: ParkedEvents,
    private readonly transport: KafkaTransport,
    private readonly proofs: RecordProofs,
  ) {}

  /**
   * All that the filter leaves, each once, the longest parked first. An event that succeeds is removed after its
   * effect: a crash in between delivers it a third time, which its consumer recognises as any other repeat.
   * @param options.unproven somebody answers for what carries no proof of who wrote it
   * @throws whatever says that the database, or what else an effect needs, is away: no event is at fault then. One that runs
   *   out of time stays parked.
   */
  async *run(filter: ParkedFilter, { unproven = false } = {}): AsyncGenerator<Redelivered> {
    for (let page = await this.parked.page(filter, AT_ONCE); page.length > 0;) {
      for (const event of page) yield await this.again(event, unproven);
      page = await this.parked.page(filter, AT_ONCE, page.at(-1));
    }
  }

  private async again(parked: ParkedEvent, unproven: boolean): Promise<Redelivered> {
    try {
      if (!unproven) this.demandProof(parked);
      await this.transport.redeliver(parked.consumer, parseDomainEvent(parked.topic, parked.payload));
    } catch (error) {
      if (isInfrastructureError(error) && !ranOut(error)) throw error;
      await this.parked.failedAgain(parked, error);
      return { event: parked, error };
    }
    await this.parked.remove(parked);
    return { event: parked };
  }

  /**
   * Of what was not given to a subscriber yet: what a handler failed on had been believed before.
   * @throws UnprovenEvent
   */
  private demandProof({ consumer, topic, key, payload, proof }: ParkedEvent): void {
    if (!this.transport.isGroup(consumer)) return;
    const bytes = proof === null ? undefined : Buffer.from(proof, 'base64');
    this.proofs.demand({ topic, key, value: payload }, bytes);
  }
}
