import { Injectable } from '@nestjs/common';
import { JobSignal } from '@customer-platform/http';

/** Tells this process that a run has something to do. Others find it by looking regularly. */
@Injectable()
export class RunSignal extends JobSignal {}
