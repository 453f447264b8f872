import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { Clock } from '@customer-platform/database';
import { Places, tenantOf, type PlaceOwner } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';

/** At once, on this instance: each writes to the disk as fast as it is sent. */
export const UPLOADS_AT_ONCE = { inAll: 6, ofTenant: 3, ofOrganization: 2 };
/** Whoever brings 64 KiB/s keeps its place though others wait for it: the largest file in two hours. */
const QUICK_BYTES_PER_MS = 64;
/** So long is looked at how much came: a line may stand still for moments. */
const WINDOW_MS = 10_000;

/** A file on its way, as far as its pace is concerned. */
type Upload = Pick<IncomingMessage, 'complete' | 'readableFlowing'> & {
  readonly socket: Pick<IncomingMessage['socket'], 'bytesRead'>;
};

/** A file that has a place. */
interface Taken {
  readonly tenant: string;
  readonly upload: Upload;
  readonly gaveWay: AbortController;
  /** Gives the place to whoever asks next. */
  readonly leave: () => void;
  /** When it was last looked how much had come. */
  lookedAt: number;
  received: number;
  /** Bytes for a millisecond before that; undefined where nobody has looked for long enough. */
  pace: number | undefined;
}

/**
 * Bounds how many files this instance takes at once. Where all places are taken, the slowest gives way that brings too
 * little, of the tenant that has most: a file may take as long as it does, and not keep others from theirs.
 */
@Injectable()
export class UploadSlots {
  private readonly places = new Places(
    UPLOADS_AT_ONCE,
    (scope) =>
      new Problem('rate_limited', {
        detail: 'As many files as may be are being taken; try again in 10 s.',
        headers: { 'Retry-After': '10' },
        members: { scope },
      }),
  );

  private readonly taken = new Set<Taken>();

  constructor(private readonly clock: Clock) {}

  /**
   * Does the work with a place, which it is told when to give up.
   * @throws Problem `rate_limited`, and what `work` throws, `request_timeout` where it gave way
   */
  async hold<T>(owner: PlaceOwner, upload: Upload, work: (gaveWay: AbortSignal) => Promise<T>): Promise<T> {
    if (this.places.full(owner) === 'platform') this.makeRoom();
    const leave = this.places.take(owner);
    const gaveWay = new AbortController();
    const { bytesRead: received } = upload.socket;
    const one = {
      tenant: tenantOf(owner),
      upload,
      gaveWay,
      leave,
      received,
      lookedAt: this.now(),
      pace: undefined,
    };
    this.taken.add(one);
    try {
      return await work(gaveWay.signal);
    } finally {
      this.taken.delete(one);
      leave();
    }
  }

  private now(): number {
    return this.clock.now().getTime();
  }

  private placesOf(tenant: string): number {
    let places = 0;
    for (const one of this.taken) if (one.tenant === tenant) places += 1;
    return places;
  }

  /** Lets the slowest go of the tenant that has most, if one is too slow. */
  private makeRoom(): void {
    const now = this.now();
    for (const one of this.taken) look(one, now);
    const slow = [...this.taken].filter(
      ({ upload, pace }) => pace !== undefined && pace < QUICK_BYTES_PER_MS && isAwaited(upload),
    );
    const [first] = slow.sort(
      (one, other) =>
        this.placesOf(other.tenant) - this.placesOf(one.tenant) || (one.pace ?? 0) - (other.pace ?? 0),
    );
    if (first === undefined) return;
    // What it has written is removed a moment later; nobody waits for that.
    this.taken.delete(first);
    first.leave();
    first.gaveWay.abort(
      new Problem('request_timeout', { detail: 'The file came too slowly, and others wait for its place.' }),
    );
  }
}

/** Whether the sender is waited for: an upload that nobody reads now waits for the disk, which is no fault of theirs. */
function isAwaited({ complete, readableFlowing }: Upload): boolean {
  return !complete && readableFlowing === true;
}

function look(one: Taken, now: number): void {
  const passed = now - one.lookedAt;
  if (passed < WINDOW_MS) return;
  const { bytesRead } = one.upload.socket;
  one.pace = (bytesRead - one.received) / passed;
  [one.lookedAt, one.received] = [now, bytesRead];
}
