import { Injectable } from '@nestjs/common';
import { JobSignal } from '@customer-platform/http';

/** Tells the evaluator of this process that there is something to evaluate; that of another process looks by itself. */
@Injectable()
export class SegmentSignal extends JobSignal {}
