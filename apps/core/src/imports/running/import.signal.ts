import { Injectable } from '@nestjs/common';
import { JobSignal } from '@customer-platform/http';

/** Tells the runner of this process that an import was taken; that of another process looks by itself. */
@Injectable()
export class ImportSignal extends JobSignal {}
