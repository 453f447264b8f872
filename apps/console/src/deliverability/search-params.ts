import type { Granularity, Grouping, Measure } from './deliverability.ts';

/** Says which figures are shown: of which days, in what periods, by what, and of which group the charts are. */
export interface DeliverabilitySearch {
  from?: string | undefined;
  to?: string | undefined;
  granularity?: Granularity | undefined;
  group_by?: Grouping | undefined;
  group?: string | undefined;
  sort?: Measure | undefined;
}
