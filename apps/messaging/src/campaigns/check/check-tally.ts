import type { Forecast } from '../../gate/gate-forecast.js';
import type { CampaignCheckDto } from './campaign-check.dto.js';

type Counts = Record<string, number>;

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
