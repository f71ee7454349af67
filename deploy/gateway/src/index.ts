export { ListenError, type Origin, type OriginOptions, openOrigin, type ServiceAddress } from './origin.ts';
export { ROUTING_FILE, type Routes, readRoutes, serviceFor } from './routes.ts';
