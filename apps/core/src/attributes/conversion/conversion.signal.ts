import { Injectable } from '@nestjs/common';
import { JobSignal } from '@customer-platform/http';

/** Tells the runner of this process that a conversion has begun; that of another process looks by itself. */
@Injectable()
export class ConversionSignal extends JobSignal {}
