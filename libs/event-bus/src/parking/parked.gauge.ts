import { log, metrics } from '@customer-platform/http';
import { Gauge } from 'prom-client';
import type { ParkedEvents } from './parked-events.js';

const watched = new Set<ParkedEvents>();

/** What waits, not what came: an alarm on it lasts until the event has had its effect. */
new Gauge({
  name: 'events_parked',
  help: 'Events that wait in parked_events; the consumer begins with its module, the type names what it did not hear of',
  labelNames: ['organization_id', 'consumer', 'type'],
  registers: [metrics],
  async collect() {
    try {
      const counts = await Promise.all([...watched].map((events) => events.counts()));
      this.reset();
      for (const { organization_id, consumer, event_type: type, waiting } of counts.flat())
        this.inc({ organization_id, consumer, type }, waiting);
    } catch (error) {
      log.warn({ err: error }, 'What is parked could not be counted');
    }
  },
});

/** Tells of what is parked there from now on; returns what ends it. */
export function watchParked(events: ParkedEvents): () => void {
  watched.add(events);
  return () => watched.delete(events);
}
