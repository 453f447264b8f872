import { Injectable } from '@nestjs/common';
import { JobSignal } from '@customer-platform/http';

/** Tells the replayer of this process that a letter was queued; that of another process looks by itself. */
@Injectable()
export class ReplaySignal extends JobSignal {}
