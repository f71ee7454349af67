import { VERSION } from '@headway/contracts';
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';

/** What a metric is at the moment: one number, or one for each set of labels. Few labels, and none that a caller names. */
export type Measured =
  | number
  | readonly { readonly value: number; readonly labels: Readonly<Record<string, string>> }[];
export type Measure = () => Measured | Promise<Measured>;

/** The metrics of one service. Each is read when somebody asks, so that nothing has to be kept up to date. */
export interface Metrics {
  /** A number that goes up and down. */
  gauge(name: string, description: string, measure: Measure): void;
  /** A number that only grows while the process lives; its name gets `_total`. */
  counter(name: string, description: string, measure: Measure): void;
  /** Everything in the text format of Prometheus. What cannot be measured now is left out. */
  render(): Promise<string>;
}

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** One that takes longer is left out. Milliseconds. */
const MEASURE_MS = 5_000;
const NAME = /^headway_[a-z][a-z0-9_]*$/;

export function createMetrics(service: string): Metrics {
  const exporter = new PrometheusExporter({ preventServerStart: true });
  const meter = new MeterProvider({ readers: [exporter] }).getMeter('headway');
  const serializer = new PrometheusSerializer(undefined, false, undefined, true, true);
  const add =
    (kind: 'createObservableGauge' | 'createObservableCounter') =>
    (name: string, description: string, measure: Measure) => {
      if (!NAME.test(name)) throw new RangeError(`${name} is not the name of a metric: begin it with headway_`);
      meter[kind](name, { description }).addCallback(async (result) => {
        const measured = await measure();
        if (typeof measured === 'number') result.observe(measured);
        else for (const { value, labels } of measured) result.observe(value, labels);
      });
    };
  const metrics: Metrics = {
    gauge: add('createObservableGauge'),
    counter: add('createObservableCounter'),
    async render() {
      const { resourceMetrics } = await exporter.collect({ timeoutMillis: MEASURE_MS });
      return serializer.serialize(resourceMetrics);
    },
  };
  metrics.gauge('headway_service_info', 'The service and its version; always 1', () => [
    { value: 1, labels: { service, version: VERSION } },
  ]);
  metrics.gauge('headway_resident_memory_bytes', 'Memory of the process that is resident', () =>
    process.memoryUsage.rss(),
  );
  return metrics;
}
