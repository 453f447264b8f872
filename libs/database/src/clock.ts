import { Injectable } from '@nestjs/common';

/** The time of day as services see it; a test provides its own to move it. */
@Injectable()
export class Clock {
  /** The present instant, to the millisecond. */
  now(): Date {
    return new Date();
  }
}
