import type { Forecast } from '../../../dispatch/gate/gate-forecast.js';
import type { CampaignCheckDto } from './campaign-check.dto.js';

type Counts = Record<string, number>;

/** Why nobody's message is shown where all who are reached wait for the organization itself. */
const UNSHOWN = {
  organization_suspended:
    'The organization is suspended: all who would get the message wait until it is not.',
  not_permitted: 'Nobody who may read messages answers for the channel: all wait until somebody does.',
} as const;

/** Counts what members of an audience come to; it is told at any time. */
export class CheckTally {
  /** Nobody asks any more: whoever still looks at members stops. */
  over = false;
  private ended = false;
  private open = 0;
  private reachable = 0;
  private excluded = 0;
  private readonly waiting: Counts = {};
  private readonly reasons: Counts = {};
  private sample: Pick<CampaignCheckDto, 'message' | 'message_problem'> = {
    message: null,
    message_problem: null,
  };

  count(forecast: Forecast): void {
    if (forecast.kind === 'open') this.open += 1;
    else if (forecast.kind === 'excluded') this.exclude(forecast.reason);
    else {
      this.reachable += 1;
      if (forecast.waitsFor) add(this.waiting, forecast.waitsFor);
    }
  }

  exclude(reason: string): void {
    this.excluded += 1;
    add(this.reasons, reason);
  }

  show(sample: Pick<CampaignCheckDto, 'message' | 'message_problem'>): void {
    this.sample = sample;
  }

  /** Nobody was found of whom the message could be shown: says why, where somebody would get it later. */
  showNone(): void {
    for (const [code, detail] of Object.entries(UNSHOWN))
      if (this.waiting[code]) this.show({ message: null, message_problem: { code, detail } });
  }

  /** All were looked at. */
  end(): void {
    this.ended = true;
  }

  /** Tells what is known by now. */
  answer(): CampaignCheckDto {
    return {
      complete: this.ended && this.open === 0,
      checked: this.reachable + this.excluded,
      reachable: this.reachable,
      waiting_reasons: { ...this.waiting },
      excluded: this.excluded,
      excluded_reasons: { ...this.reasons },
      ...this.sample,
    };
  }
}

function add(counts: Counts, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}
