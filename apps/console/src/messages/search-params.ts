import type { Channel, EventType, TemplateKind } from './vocabulary.ts';

export const SENDS_IDS = ['contact_id', 'template_id', 'correlation_id', 'source_id', 'run_id'] as const;

/** Filters the sends, and says which of them is open. */
export type SendsSearch = Partial<
  Record<
    | 'channel'
    | 'state'
    | 'category'
    | 'reason'
    | 'address'
    | (typeof SENDS_IDS)[number]
    | 'from'
    | 'to'
    | 'open',
    string
  >
>;

export interface TemplatesSearch {
  name?: string | undefined;
  kind?: TemplateKind | undefined;
  channel?: Channel | undefined;
  deleted?: true | undefined;
}

export type SuppressionsSearch = Partial<
  Record<'channel' | 'address' | 'reason' | 'lifted' | 'lifted_by', string>
>;

/** Filters the rules of event routing, and says which of them stands beside the list; `new` is the form of another. */
export interface RoutingSearch {
  event_type?: EventType | undefined;
  channel?: Channel | undefined;
  enabled?: 'true' | 'false' | undefined;
  deleted?: true | undefined;
  open?: string | undefined;
}
