import { Injectable } from '@nestjs/common';
import { parseDomainEvent } from '@customer-platform/events';
import { isInfrastructureError } from '../errors.js';
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
  ) {}

  /**
   * All that the filter leaves, each once, the longest parked first. An event that succeeds is removed after its
   * effect: a crash in between delivers it a third time, which its consumer recognises as any other repeat.
   * @throws whatever says that the database, or what else an effect needs, is away: no event is at fault then
   */
  async *run(filter: ParkedFilter): AsyncGenerator<Redelivered> {
    for (let page = await this.parked.page(filter, AT_ONCE); page.length > 0;) {
      for (const event of page) yield await this.again(event);
      page = await this.parked.page(filter, AT_ONCE, page.at(-1));
    }
  }

  private async again(parked: ParkedEvent): Promise<Redelivered> {
    try {
      await this.transport.redeliver(parked.consumer, parseDomainEvent(parked.topic, parked.payload));
    } catch (error) {
      if (isInfrastructureError(error)) throw error;
      await this.parked.failedAgain(parked, error);
      return { event: parked, error };
    }
    await this.parked.remove(parked);
    return { event: parked };
  }
}
