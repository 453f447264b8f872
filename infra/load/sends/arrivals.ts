import { percentile } from '@customer-platform/kit/percentile.ts';
import type { HandOff } from '@customer-platform/kit/sink.ts';

/** A mail of a run, as it came. */
interface Arrival {
  kind: string;
  address: string;
  /** Milliseconds since its send was asked for. */
  late: number;
  /** Milliseconds since 1970. */
  at: number;
}

const ADDRESS = /^load-(?<run>[^-]+)-(?<kind>[a-z]+)-\d+-(?<asked>\d+)@/;

/** The mails of a run; their addresses tell when they were asked for. */
export function arrivalsOf(handOffs: readonly HandOff[], run: string): Arrival[] {
  return handOffs.flatMap(({ address, at, complete }) => {
    const named = ADDRESS.exec(address)?.groups;
    if (!complete || named?.['run'] !== run) return [];
    const time = performance.timeOrigin + at;
    return [{ kind: named['kind'] ?? '', address, late: time - Number(named['asked']), at: time }];
  });
}

/** Each accepted send came once; of those whose address was suppressed meanwhile, at most once. */
export function judgeArrivals(
  arrivals: readonly Arrival[],
  accepted: number,
  stopped: number,
): { lines: string[]; wrong: number } {
  const sent = arrivals.filter(({ kind }) => kind === 'sent');
  const different = new Set(arrivals.map(({ address }) => address)).size;
  const lost = accepted - new Set(sent.map(({ address }) => address)).size;
  const doubled = arrivals.length - different;
  const times = sent.map(({ late }) => late);
  const at = (share: number): string => percentile(times, share).toFixed(0);
  const first = sent.reduce((least, { at: time }) => Math.min(least, time), Infinity);
  const last = sent.reduce((most, { at: time }) => Math.max(most, time), 0);
  const rate = (sent.length - 1) / ((last - first) / 1_000);
  return {
    wrong: Math.abs(lost) + doubled,
    lines: [
      `  asked for → DATA at the mail server: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, max ${at(1)} ms; ${rate.toFixed(0)} mails/s`,
      `  ${accepted} accepted: ${lost} lost, ${doubled} doubled; of ${stopped} suppressed at once ${arrivals.length - sent.length} were still under way`,
    ],
  };
}
