import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context, Span } from '@opentelemetry/api';

/** What tracing needs of OpenTelemetry, loaded only where an endpoint is set: without one it costs nothing. */
interface Tracing {
  begin(request: IncomingMessage): { span: Span; context: Context };
  within<T>(context: Context, work: () => T): T;
  inject(): Record<string, string>;
  stop(): Promise<void>;
}

let tracing: Tracing | undefined;

/** Sends a span per request to an OTLP collector (`<endpoint>/v1/traces`); without an endpoint it does nothing. */
export async function startTracing(module: string, endpoint: string | undefined): Promise<void> {
  if (endpoint !== undefined) tracing = await load(module, endpoint);
}

/** Sends what has not been sent yet, and traces no more. */
export async function stopTracing(): Promise<void> {
  const stopping = tracing;
  tracing = undefined;
  await stopping?.stop();
}

/** Headers that carry the running trace to another module (W3C Trace Context); none while nothing is traced. */
export function traceHeaders(): Record<string, string> {
  return tracing?.inject() ?? {};
}

/** Runs the handling of a request as a span, the child of its caller's. `route` is asked when the answer has gone. */
export function traceRequest(
  request: IncomingMessage,
  response: ServerResponse,
  correlationId: string,
  route: () => string,
  work: () => void,
): void {
  if (!tracing) {
    work();
    return;
  }
  const { span, context } = tracing.begin(request);
  span.setAttribute('correlation_id', correlationId);
  response.once('close', () => {
    span.updateName(`${request.method ?? ''} ${route()}`);
    span.setAttribute('http.route', route());
    span.setAttribute('http.response.status_code', response.statusCode);
    span.end();
  });
  tracing.within(context, work);
}

async function load(module: string, endpoint: string): Promise<Tracing> {
  const [api, { TracerProvider, BatchSpanProcessor }, { OTLPTraceExporter }, hooks, resources, core] =
    await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/context-async-hooks'),
      import('@opentelemetry/resources'),
      import('@opentelemetry/core'),
    ]);
  const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces` });
  const provider = new TracerProvider({
    resource: resources.resourceFromAttributes({ 'service.name': `customer-platform-${module}` }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const contexts = new hooks.AsyncLocalStorageContextManager();
  api.context.setGlobalContextManager(contexts.enable());
  const propagator = new core.W3CTraceContextPropagator();
  const tracer = provider.getTracer('customer-platform');
  const { SpanKind, context, trace, ROOT_CONTEXT, defaultTextMapGetter, defaultTextMapSetter } = api;
  return {
    begin(request) {
      const parent = propagator.extract(ROOT_CONTEXT, request.headers, defaultTextMapGetter);
      const attributes = { 'http.request.method': request.method ?? '' };
      const span = tracer.startSpan(
        request.method ?? 'request',
        { kind: SpanKind.SERVER, attributes },
        parent,
      );
      return { span, context: trace.setSpan(parent, span) };
    },
    within: (active, work) => context.with(active, work),
    inject() {
      const carrier: Record<string, string> = {};
      propagator.inject(context.active(), carrier, defaultTextMapSetter);
      return carrier;
    },
    async stop() {
      await provider.shutdown();
      contexts.disable();
    },
  };
}
