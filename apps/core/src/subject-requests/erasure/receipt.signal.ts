import { Injectable } from '@nestjs/common';
import { JobSignal } from '@customer-platform/http';

/** Tells the verifier of this process that a receipt has come; that of another process looks by itself. */
@Injectable()
export class ReceiptSignal extends JobSignal {}
