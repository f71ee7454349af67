import { runService } from '@headway/runtime';
import { config } from './config.ts';
import { openOrigin } from './origin.ts';
import { ROUTING_FILE, readRoutes } from './routes.ts';

/** One origin for services that run apart, each of which is a host of its own name. */
runService({
  name: 'gateway',
  main: async (scope) => {
    const settings = config.read(process.env);
    const origin = await openOrigin({
      host: settings.HEADWAY_HOST,
      port: settings.HEADWAY_PORT,
      nextPorts: 0,
      routes: readRoutes(ROUTING_FILE),
      addressOf: (service) => ({ host: service, port: settings.HEADWAY_SERVICE_PORT }),
      // A caller that came through here is not on the service's own machine, whatever the service sees as its peer.
      tellCaller: true,
      withheld: ['/metrics'],
    });
    scope.onClose('http', () => origin.close());
    scope.announce({ port: origin.port });
  },
});
