import { type LogFormat, part } from './log-format.js';

const { quoted, request, iso } = part;

const splits = [{ group: 'request', pattern: request }];
const times =
  '(?<request_processing_time>-?[\\d.]+) (?<target_processing_time>-?[\\d.]+) (?<response_processing_time>-?[\\d.]+)';
const counted =
  '(?<status>\\d{3}|-) (?<target_status>\\d{1,3}|-) (?<received_bytes>\\d+) (?<sent_bytes>\\d+)';

/** Load balancers and networks of clouds, and containers. */
export const cloud: readonly LogFormat[] = [
  {
    name: 'alb',
    label: 'Application Load Balancer access log lines',
    example: [
      'https 2025-10-10T13:55:36.186641Z app/shop/50dc6c495c0c9188 10.1.2.3:2817 10.0.0.7:80 0.086 0.048 0.037 200 200 34 366 "GET https://shop.example:443/cart HTTP/1.1" "curl/8.5.0" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2 arn:aws:elasticloadbalancing:us-east-2:123456789012:targetgroup/shop/73e2d6bc24d8a067 "Root=1-58337262-36d228ad5d99923122bbe354" "shop.example" "arn:aws:acm:us-east-2:123456789012:certificate/12345678" 1 2025-10-10T13:55:36.100000Z "forward" "-" "-" "10.0.0.7:80" "200" "-" "-" TID_1234',
    ],
    reading: {
      kind: 'lines',
      // https://docs.aws.amazon.com/elasticloadbalancing/latest/application/load-balancer-access-logs.html
      shapes: [
        {
          pattern: `^(?<type>https?|h2|grpcs|wss?) (?<time>${iso}) (?<elb>\\S+) (?<client>\\S+):(?<client_port>\\d+) (?<target>\\S+) ${times} ${counted} "(?<request>${quoted}|.*?)" "(?<user_agent>${quoted})" (?<ssl_cipher>\\S+) (?<ssl_protocol>\\S+) (?<target_group>\\S+) "(?<trace_id>${quoted})"(?: "?(?<domain_name>[^\\s"]*)"? "?(?<certificate>[^\\s"]*)"?)?(?: (?<rule_priority>\\d+|-) (?<request_creation_time>\\S+)(?: "(?<actions>${quoted})"(?: "(?<redirect_url>${quoted})"(?: "(?<error_reason>${quoted})")?)?)?)?(?: "(?<targets>${quoted})" "(?<target_statuses>${quoted})")?(?: "(?<classification>${quoted})" "(?<classification_reason>${quoted})")?(?: (?<connection_trace_id>TID_\\S+))?(?: "(?<transformed_host>${quoted})" "(?<transformed_uri>${quoted})" "(?<transform_status>${quoted})")?(?: (?<rest>.*))?$`,
          splits,
          optional: ['transformed_host', 'transformed_uri', 'transform_status', 'rest'],
        },
      ],
      absent: {
        text: '-',
        fields: [
          'target',
          'status',
          'target_status',
          'ssl_cipher',
          'ssl_protocol',
          'target_group',
          'trace_id',
          'domain_name',
          'certificate',
          'rule_priority',
          'actions',
          'redirect_url',
          'error_reason',
          'targets',
          'target_statuses',
          'classification',
          'classification_reason',
          'transformed_host',
          'transformed_uri',
          'transform_status',
        ],
      },
    },
  },
  {
    name: 'elb',
    label: 'Classic Load Balancer access log lines',
    example: [
      '2025-10-10T13:55:36.945958Z shop 10.1.2.3:2817 10.0.0.7:80 0.000073 0.001048 0.000057 200 200 0 29 "GET http://shop.example:80/cart HTTP/1.1" "curl/8.5.0" - -',
      '2025-10-10T13:55:37.945958Z shop 10.1.2.3:2817 - -1 -1 -1 504 0 0 0 "GET http://shop.example:80/cart HTTP/1.1" "curl/8.5.0" - -',
    ],
    reading: {
      kind: 'lines',
      // https://docs.aws.amazon.com/elasticloadbalancing/latest/classic/access-log-collection.html
      shapes: [
        {
          pattern: `^(?<time>${iso}) (?<elb>\\S+) (?<client>\\S+):(?<client_port>\\d+) (?<target>\\S+) ${times} ${counted} "(?<request>${quoted}|.*?)"(?: "(?<user_agent>${quoted})" (?<ssl_cipher>\\S+) (?<ssl_protocol>\\S+))?$`,
          splits,
        },
      ],
      absent: {
        text: '-',
        fields: ['target', 'status', 'target_status', 'request', 'user_agent', 'ssl_cipher', 'ssl_protocol'],
      },
    },
  },
  {
    name: 'nlb',
    label: 'Network Load Balancer TLS log lines',
    example: [
      'tls 2.0 2025-10-10T13:55:36 net/shop/c6e77e28c25b2234 g3d4b5e8bb8464cd 10.1.2.3:51341 10.0.0.7:443 5 2 98 246 - arn:aws:acm:us-east-2:123456789012:certificate/2a108f19 - ECDHE-RSA-AES128-SHA tlsv12 - shop.example h2 h2 "h2","http/1.1" 2025-10-10T13:55:30',
    ],
    reading: {
      kind: 'lines',
      // https://docs.aws.amazon.com/elasticloadbalancing/latest/network/load-balancer-access-logs.html
      shapes: [
        {
          pattern: `^(?<type>tls) (?<version>[\\d.]+) (?<time>${iso}) (?<elb>\\S+) (?<listener>\\S+) (?<client>\\S+):(?<client_port>\\d+) (?<target>\\S+) (?<connection_time_ms>\\d+|-) (?<tls_handshake_time_ms>\\d+|-) (?<received_bytes>\\d+) (?<sent_bytes>\\d+) (?<tls_alert>\\S+) (?<certificate>\\S+) (?<certificate_serial>\\S+) (?<ssl_cipher>\\S+) (?<ssl_protocol>\\S+) (?<ssl_group>\\S+) (?<domain_name>\\S+)(?: (?<alpn_client>\\S+) (?<alpn_target>\\S+) (?<alpn_offered>\\S+))?(?: (?<connection_creation_time>\\S+))?(?: (?<rest>.*))?$`,
          optional: ['rest'],
        },
      ],
      absent: {
        text: '-',
        fields: [
          'target',
          'connection_time_ms',
          'tls_handshake_time_ms',
          'tls_alert',
          'certificate',
          'certificate_serial',
          'ssl_cipher',
          'ssl_protocol',
          'ssl_group',
          'domain_name',
          'alpn_client',
          'alpn_target',
          'alpn_offered',
          'connection_creation_time',
        ],
      },
    },
  },
  {
    name: 'route53',
    label: 'Route 53 DNS query log lines',
    example: [
      '1.0 2025-10-10T13:55:36.130Z Z123412341234 cart.shop.example A NOERROR UDP FRA6 10.1.2.3 10.1.2.0/24',
    ],
    reading: {
      kind: 'lines',
      // https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/query-logs.html
      shapes: [
        {
          pattern: `^(?<version>\\d+\\.\\d+) (?<time>${iso}) (?<zone>\\S+) (?<name>\\S+) (?<type>[A-Z\\d]+) (?<response>[A-Z]+) (?<protocol>UDP|TCP) (?<edge>[A-Z]{3}\\d*(?:-\\w+)?) (?<resolver>\\S+) (?<client_subnet>\\S+)$`,
        },
      ],
      absent: { text: '-', fields: ['client_subnet'] },
    },
  },
  {
    name: 'vpc-flow',
    label: 'VPC flow log lines',
    time: ['start'],
    example: [
      'version account-id interface-id srcaddr dstaddr srcport dstport protocol packets bytes start end action log-status',
      '2 123456789012 eni-0a1b2c3d 10.1.2.3 10.0.0.7 49152 443 6 10 840 1760104536 1760104596 ACCEPT OK',
      '2 123456789012 eni-0a1b2c3d - - - - - - - 1760104596 1760104656 - NODATA',
    ],
    reading: {
      kind: 'headed',
      // https://docs.aws.amazon.com/vpc/latest/userguide/flow-log-records.html
      header: '^((?:[a-z][a-z0-9-]+ )*(?:interface-id|srcaddr|account-id)(?: [a-z][a-z0-9-]+)*)$',
      comment: '^$',
      absent: ['-'],
    },
  },
  {
    name: 'vpc-flow-2',
    label: 'VPC flow log lines (version 2)',
    time: ['start'],
    example: [
      '2 123456789012 eni-0a1b2c3d 10.1.2.3 10.0.0.7 49152 443 6 10 840 1760104536 1760104596 ACCEPT OK',
    ],
    reading: {
      kind: 'lines',
      shapes: [
        {
          pattern:
            '^(?<version>2) (?<account_id>\\S+) (?<interface_id>eni-\\S+) (?<srcaddr>\\S+) (?<dstaddr>\\S+) (?<srcport>\\d+|-) (?<dstport>\\d+|-) (?<protocol>\\d+|-) (?<packets>\\d+|-) (?<bytes>\\d+|-) (?<start>\\d{10}) (?<end>\\d{10}) (?<action>\\S+) (?<log_status>\\S+)$',
        },
      ],
      absent: {
        text: '-',
        fields: ['srcaddr', 'dstaddr', 'srcport', 'dstport', 'protocol', 'packets', 'bytes', 'action'],
      },
    },
  },
  {
    name: 'cri',
    label: 'container log lines (CRI)',
    example: ['2025-10-10T13:55:36.123456789Z stdout F cart is ready'],
    reading: {
      kind: 'lines',
      // https://github.com/kubernetes/design-proposals-archive/blob/main/node/kubelet-cri-logging.md
      shapes: [
        {
          pattern:
            '^(?<time>\\d{4}-\\d{2}-\\d{2}T\\S+) (?<stream>stdout|stderr) (?<tag>[FP]) (?<message>.*)$',
        },
      ],
    },
  },
  {
    name: 'klog',
    label: 'Kubernetes log lines (klog)',
    example: [
      'I1010 13:55:36.678901   12345 kubelet.go:2073] "SyncLoop ADD" source="api"',
      'F1010 13:55:37.678901   12345 kubelet.go:31] cart 7 is lost',
      'goroutine 1 [running]:',
      // glog with the year.
      'W20251010 13:55:38.678901 12345 cart.cc:31] cart 7 is slow',
    ],
    reading: {
      kind: 'lines',
      begins: { line: '^[IWEF](?:\\d{4}|\\d{8}) \\d{2}:\\d{2}:\\d{2}\\.' },
      // https://kubernetes.io/docs/concepts/cluster-administration/system-logs/
      shapes: [
        {
          pattern:
            '^(?<level>[IWEF])(?<time>(?:\\d{4}|\\d{8}) \\d{2}:\\d{2}:\\d{2}\\.\\d{6}) +(?<thread>\\d+) (?<source>[^ \\]]+)\\] ?(?<message>[\\s\\S]*)$',
        },
      ],
    },
  },
];
